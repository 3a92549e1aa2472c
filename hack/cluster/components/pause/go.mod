module github.com/hookonce/hookonce/hack/cluster/components/pause

go 1.26.0
