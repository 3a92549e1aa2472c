// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// linkImage gives the test image another name.
func linkImage(t *testing.T, folder string) {
	t.Helper()
	link := filepath.Join(imagesDir, folder)
	if err := os.Symlink("example.com%2Ftest%2Fapp:1", link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(link) })
}

func deletePod(t *testing.T, namespace, name string, options metav1.DeleteOptions) {
	t.Helper()
	if err := client.CoreV1().Pods(namespace).Delete(testContext(t), name, options); err != nil {
		t.Fatal(err)
	}
}

func TestDeletionWithGrace(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "grace", "0s")
	namespace := newNamespace(t)
	pod := appPod(namespace, node.name, "app")
	pod.Spec.Containers[0].Args = append(pod.Spec.Containers[0].Args, "--linger=2s")
	pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/prestop", Port: intstr.FromString("http")},
	}}
	create(t, pod)
	pod = waitReady(t, namespace, "app")
	begin := time.Now()
	deletePod(t, namespace, "app", metav1.DeleteOptions{})
	g.Consistently(func() string { return request(t, "GET", pod, "/env/POD_IP") }, time.Second, often).Should(Equal(pod.Status.PodIP))
	g.Eventually(isGone(t, namespace, "app"), patience, often).Should(BeTrue())
	g.Expect(time.Since(begin)).To(And(BeNumerically(">", 2*time.Second), BeNumerically("<", 6*time.Second)))
	g.Expect(node.log(t, namespace, "app", "main")).To(HaveSuffix("prestop\nSIGTERM\nbye\n"))
}

func TestDeletionPastGrace(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "past-grace", "0s")
	namespace := newNamespace(t)
	pod := appPod(namespace, node.name, "app")
	pod.Spec.Containers[0].Args = append(pod.Spec.Containers[0].Args, "--linger=1h")
	create(t, pod)
	waitReady(t, namespace, "app")
	begin := time.Now()
	deletePod(t, namespace, "app", metav1.DeleteOptions{GracePeriodSeconds: new(int64(2))})
	g.Eventually(isGone(t, namespace, "app"), patience, often).Should(BeTrue())
	g.Expect(time.Since(begin)).To(And(BeNumerically(">", 1900*time.Millisecond), BeNumerically("<", 6*time.Second)))
	g.Expect(node.log(t, namespace, "app", "main")).To(HaveSuffix("SIGTERM\n"))
}

// A pod whose containers all wait still has a process: that of its init container.
func TestDeletionDuringInit(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "during-init", "0s")
	namespace := newNamespace(t)
	pod := appPod(namespace, node.name, "app")
	pod.Spec.InitContainers = []corev1.Container{{
		Name: "init", Image: testImage, Command: []string{"/app", "--address=127.0.0.1:0", "--linger=2s"},
	}}
	create(t, pod)
	g.Eventually(func() string { return node.log(t, namespace, "app", "init") }, patience, often).Should(Equal("started\n"))
	begin := time.Now()
	deletePod(t, namespace, "app", metav1.DeleteOptions{})
	g.Eventually(isGone(t, namespace, "app"), patience, often).Should(BeTrue())
	g.Expect(time.Since(begin)).To(BeNumerically(">", 2*time.Second))
	g.Expect(node.log(t, namespace, "app", "init")).To(HaveSuffix("SIGTERM\nbye\n"))
}

// The object is gone at once; the process is killed, and a pod that takes the name runs.
func TestForcedDeletion(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "forced", "0s")
	namespace := newNamespace(t)
	pod := appPod(namespace, node.name, "app")
	pod.Spec.Containers[0].Args = append(pod.Spec.Containers[0].Args, "--linger=1h")
	create(t, pod.DeepCopy())
	first := waitReady(t, namespace, "app")
	deletePod(t, namespace, "app", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	create(t, pod.DeepCopy())
	g.Eventually(func() string { return request(t, "GET", first, "/ready") }, patience, often).Should(ContainSubstring("connection refused"))
	second := waitReady(t, namespace, "app")
	g.Expect(second.UID).NotTo(Equal(first.UID))
	g.Expect(second.Status.PodIP).NotTo(Equal(first.Status.PodIP))
	g.Expect(node.log(t, namespace, "app", "main")).NotTo(ContainSubstring("SIGTERM"))
}

func TestNodeStops(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "stops", "0s")
	namespace := newNamespace(t)
	create(t, appPod(namespace, node.name, "app"))
	pod := waitReady(t, namespace, "app")
	node.stop(t, syscall.SIGTERM)
	g.Expect(request(t, "GET", pod, "/ready")).To(ContainSubstring("connection refused"))
	g.Expect(node.log(t, namespace, "app", "main")).To(HaveSuffix("SIGTERM\nbye\n"))
	left, err := os.ReadDir(node.state)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())

	// The next life of the node runs the pod again, and counts it.
	node.start(t, "0s")
	g.Eventually(get(t, namespace, "app"), patience, often).Should(WithTransform(restarts, BeEquivalentTo(1)))
	waitReady(t, namespace, "app")
}

func TestNodeIsKilled(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "killed", "0s")
	namespace := newNamespace(t)
	create(t, appPod(namespace, node.name, "app"))
	create(t, oncePod(namespace, node.name, "once", corev1.RestartPolicyNever, "--wait=1h"))
	pod := waitReady(t, namespace, "app")
	g.Eventually(get(t, namespace, "once"), patience, often).Should(WithTransform(phase, Equal(corev1.PodRunning)))
	node.stop(t, syscall.SIGKILL)
	g.Eventually(func() string { return request(t, "GET", pod, "/ready") }, 5*time.Second, often).Should(ContainSubstring("connection refused"))

	// What may run only once is not run again.
	node.start(t, "0s")
	g.Eventually(get(t, namespace, "once"), patience, often).Should(WithTransform(phase, Equal(corev1.PodFailed)))
	waitReady(t, namespace, "app")
	g.Expect(node.log(t, namespace, "once", "main")).To(Equal("started\n"))
}

func TestServiceAccount(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "account", "0s")
	namespace := newNamespace(t)
	_, err := client.CoreV1().ServiceAccounts(namespace).Create(testContext(t),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "app"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for name, automount := range map[string]*bool{"with": nil, "without": new(false)} {
		pod := appPod(namespace, node.name, name)
		pod.Spec.ServiceAccountName = "app"
		pod.Spec.AutomountServiceAccountToken = automount
		create(t, pod)
	}
	g.Expect(request(t, "GET", waitReady(t, namespace, "without"), "/env/KUBECONFIG")).To(BeEmpty())
	pod := waitReady(t, namespace, "with")
	g.Expect(request(t, "GET", pod, "/env/POD_NAMESPACE")).To(Equal(namespace))
	config, err := clientcmd.BuildConfigFromFlags("", request(t, "GET", pod, "/env/KUBECONFIG"))
	g.Expect(err).NotTo(HaveOccurred())
	asPod, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	who, err := asPod.AuthenticationV1().SelfSubjectReviews().Create(testContext(t), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(who.Status.UserInfo.Username).To(Equal("system:serviceaccount:" + namespace + ":app"))
}

// Deployments must not run wild over what this node cannot do: the pod waits and says why.
func TestUnsupportedPodWaits(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "unsupported", "0s")
	namespace := newNamespace(t)
	for i, change := range []func(*corev1.Pod){
		func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v", SubPath: "x"}}
		},
		func(p *corev1.Pod) {
			p.Spec.Containers[0].ReadinessProbe.ProbeHandler = corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}
		},
	} {
		name := "app-" + strconv.Itoa(i)
		pod := appPod(namespace, node.name, name)
		change(pod)
		create(t, pod)
		g.Eventually(get(t, namespace, name), patience, often).Should(WithTransform(func(p *corev1.Pod) string {
			if waiting := mainStatus(p).State.Waiting; waiting != nil {
				return waiting.Message
			}
			return ""
		}, ContainSubstring("supported")))
	}
}
