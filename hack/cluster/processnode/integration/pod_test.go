// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package integration

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	patience = 30 * time.Second
	often    = 50 * time.Millisecond
)

func newNamespace(t *testing.T) string {
	t.Helper()
	namespace, err := client.CoreV1().Namespaces().Create(testContext(t),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// appPod is a pod that serves on its address, bound to the node as the scheduler would do it.
func appPod(namespace, node, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, TerminationGracePeriodSeconds: new(int64(10)),
			Containers: []corev1.Container{{
				Name: "main", Image: testImage,
				Command: []string{"/app"},
				Args:    []string{"--address=$(POD_IP):8080"},
				Env: []corev1.EnvVar{{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"},
				}}},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
				ReadinessProbe: &corev1.Probe{
					PeriodSeconds: 1, FailureThreshold: 1,
					ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")}},
				},
			}},
		},
	}
}

// oncePod is a pod that runs the app with the arguments and ends.
func oncePod(namespace, node, name string, policy corev1.RestartPolicy, args ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, RestartPolicy: policy,
			Containers: []corev1.Container{{Name: "main", Image: testImage, Command: []string{"/app"}, Args: args}},
		},
	}
}

func create(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if _, err := client.CoreV1().Pods(pod.Namespace).Create(testContext(t), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, namespace, name string) func() (*corev1.Pod, error) {
	ctx := testContext(t)
	return func() (*corev1.Pod, error) {
		return client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	}
}

func ready(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func phase(pod *corev1.Pod) corev1.PodPhase { return pod.Status.Phase }

func mainStatus(pod *corev1.Pod) corev1.ContainerStatus {
	if len(pod.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return pod.Status.ContainerStatuses[0]
}

func restarts(pod *corev1.Pod) int32 { return mainStatus(pod).RestartCount }

// waitReady waits until the pod is ready, and returns it.
func waitReady(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	NewWithT(t).Eventually(func() (bool, error) {
		var err error
		pod, err = get(t, namespace, name)()
		return err == nil && ready(pod), err
	}, patience, often).Should(BeTrue(), "pod %s is not ready", name)
	return pod
}

// request calls the app of a pod and returns the answer's body; an error stands in its place.
func request(t *testing.T, method string, pod *corev1.Pod, path string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(testContext(t), method, "http://"+pod.Status.PodIP+":8080"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func isGone(t *testing.T, namespace, name string) func() bool {
	read := get(t, namespace, name)
	return func() bool {
		_, err := read()
		return apierrors.IsNotFound(err)
	}
}

func TestInitContainersVolumesAndDelay(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "volumes", "3s")
	namespace := newNamespace(t)
	secrets := client.CoreV1().Secrets(namespace)
	secret, err := secrets.Create(testContext(t), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "ring"}, StringData: map[string]string{"key": "first"},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	pod := appPod(namespace, node.name, "app")
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "ring", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "ring"}}},
		{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	shared := corev1.VolumeMount{Name: "shared", MountPath: "/var/shared"}
	pod.Spec.InitContainers = []corev1.Container{
		{Name: "one", Image: testImage, Command: []string{"/app", "--write=/var/shared/one", "--text=1"}, VolumeMounts: []corev1.VolumeMount{shared}},
		{Name: "two", Image: testImage, Command: []string{"/app", "--write=/var/shared/two", "--text=2", "--wait=1s"}, VolumeMounts: []corev1.VolumeMount{shared}},
	}
	main := &pod.Spec.Containers[0]
	main.Args = append(main.Args, "--dir=/etc/ring")
	main.VolumeMounts = []corev1.VolumeMount{{Name: "ring", MountPath: "/etc/ring"}, shared}
	main.Env = append(main.Env, corev1.EnvVar{Name: "SHARED", Value: "/var/shared"})
	create(t, pod)

	g.Eventually(get(t, namespace, "app"), patience, often).Should(
		WithTransform(func(p *corev1.Pod) bool {
			return len(p.Status.InitContainerStatuses) == 2 && p.Status.InitContainerStatuses[1].State.Running != nil
		}, BeTrue()))
	current, err := get(t, namespace, "app")()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(phase(current)).To(Equal(corev1.PodPending))
	g.Expect(mainStatus(current).State.Waiting).To(HaveField("Reason", "PodInitializing"))

	current = waitReady(t, namespace, "app")
	g.Expect(phase(current)).To(Equal(corev1.PodRunning))
	g.Expect(current.Status.PodIP).To(HavePrefix("127.77."))
	g.Expect(request(t, "GET", current, "/file/key")).To(Equal("first"))
	g.Expect(request(t, "GET", current, "/env/SHARED")).To(HavePrefix(node.state))

	changed := time.Now()
	secret.StringData = map[string]string{"key": "second"}
	_, err = secrets.Update(testContext(t), secret, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() string { return request(t, "GET", current, "/file/key") }, patience, often).Should(Equal("second"))
	g.Expect(time.Since(changed)).To(And(BeNumerically(">", 2900*time.Millisecond), BeNumerically("<", 6*time.Second)))
	g.Expect(restarts(current)).To(BeZero())
}

func TestReadiness(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "readiness", "0s")
	namespace := newNamespace(t)
	create(t, appPod(namespace, node.name, "app"))
	pod := waitReady(t, namespace, "app")
	request(t, "POST", pod, "/ready/toggle")
	g.Eventually(get(t, namespace, "app"), patience, often).Should(WithTransform(ready, BeFalse()))
	request(t, "POST", pod, "/ready/toggle")
	waitReady(t, namespace, "app")
}

func TestRestarts(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "restarts", "0s")
	namespace := newNamespace(t)
	pod := appPod(namespace, node.name, "app")
	pod.Spec.Containers[0].LivenessProbe = &corev1.Probe{
		PeriodSeconds: 1, FailureThreshold: 2,
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/live", Port: intstr.FromInt(8080)}},
	}
	create(t, pod)
	pod = waitReady(t, namespace, "app")

	request(t, "POST", pod, "/crash")
	g.Eventually(get(t, namespace, "app"), patience, often).Should(WithTransform(restarts, BeEquivalentTo(1)))
	pod = waitReady(t, namespace, "app")
	g.Expect(mainStatus(pod).LastTerminationState.Terminated).To(HaveField("ExitCode", BeEquivalentTo(3)))

	request(t, "POST", pod, "/live/toggle")
	g.Eventually(get(t, namespace, "app"), patience, often).Should(WithTransform(restarts, BeEquivalentTo(2)))
	waitReady(t, namespace, "app")
	g.Expect(node.log(t, namespace, "app", "main")).To(ContainSubstring("SIGTERM"))
}

func TestImageArrivesLater(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "images", "0s")
	namespace := newNamespace(t)
	pod := oncePod(namespace, node.name, "app", corev1.RestartPolicyNever)
	pod.Spec.Containers[0].Image = "example.com/test/late:1"
	create(t, pod)
	g.Eventually(get(t, namespace, "app"), patience, often).Should(WithTransform(func(p *corev1.Pod) string {
		if waiting := mainStatus(p).State.Waiting; waiting != nil {
			return waiting.Reason + ": " + waiting.Message
		}
		return ""
	}, And(HavePrefix("ErrImagePull: "), ContainSubstring("late:1"))))
	linkImage(t, "example.com%2Ftest%2Flate:1")
	g.Eventually(get(t, namespace, "app"), patience, often).Should(WithTransform(phase, Equal(corev1.PodSucceeded)))
}

func TestJobsPods(t *testing.T) {
	g := NewWithT(t)
	node := startNode(t, "jobs", "0s")
	namespace := newNamespace(t)
	create(t, oncePod(namespace, node.name, "good", corev1.RestartPolicyNever, "--text=done"))
	create(t, oncePod(namespace, node.name, "bad", corev1.RestartPolicyNever, "--exit=7"))
	create(t, oncePod(namespace, node.name, "again", corev1.RestartPolicyOnFailure, "--exit=1"))
	g.Eventually(get(t, namespace, "good"), patience, often).Should(WithTransform(phase, Equal(corev1.PodSucceeded)))
	g.Eventually(get(t, namespace, "bad"), patience, often).Should(WithTransform(phase, Equal(corev1.PodFailed)))
	g.Eventually(get(t, namespace, "again"), patience, often).Should(WithTransform(restarts, BeNumerically(">=", 2)))
	bad, err := get(t, namespace, "bad")()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(mainStatus(bad).State.Terminated).To(HaveField("ExitCode", BeEquivalentTo(7)))
	g.Expect(mainStatus(bad).RestartCount).To(BeZero())
	g.Expect(strings.Count(node.log(t, namespace, "good", "main"), "started")).To(Equal(1))

	// A pod that has ended goes away at once.
	g.Expect(client.CoreV1().Pods(namespace).Delete(testContext(t), "good", metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(isGone(t, namespace, "good"), 5*time.Second, often).Should(BeTrue())
}
