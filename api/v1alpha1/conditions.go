// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types. Ready, Reconciling and Stalled follow kstatus: the last two are present only when they are True.
const (
	// ConditionReady is True when the cluster does what the spec asks. An overlap and failed deliveries leave it True.
	ConditionReady = "Ready"
	// ConditionReconciling is present and True while the operator works towards the spec.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present and True when nothing will change until somebody acts; the message says what to do.
	ConditionStalled = "Stalled"
	// ConditionSecretsResolved says whether the Secrets that the spec names can be used.
	ConditionSecretsResolved = "SecretsResolved"
	// ConditionReceiversAvailable says whether enough receivers serve.
	ConditionReceiversAvailable = "ReceiversAvailable"
	// ConditionDatabaseReachable says whether the receivers reach Postgres.
	ConditionDatabaseReachable = "DatabaseReachable"
	// ConditionDurabilityVerified says whether Postgres keeps what it acknowledges (fsync, synchronous_commit).
	ConditionDurabilityVerified = "DurabilityVerified"
	// ConditionRetentionHealthy says whether the prune job runs and succeeds.
	ConditionRetentionHealthy = "RetentionHealthy"
	// ConditionDeliveriesHealthy says whether deliveries or effects fail. It never touches Ready.
	ConditionDeliveriesHealthy = "DeliveriesHealthy"
	// ConditionOverlapActive says whether a former secret is still accepted. An overlap is a healthy state.
	ConditionOverlapActive = "OverlapActive"
	// ConditionSourceDiverged says that a SecretRotation made another secret current than the one the endpoint names.
	ConditionSourceDiverged = "SourceDiverged"
	// ConditionPropagated says that every ready receiver has loaded the new secret.
	ConditionPropagated = "Propagated"
	// ConditionOldSecretStillInUse is there while the provider signs with a former secret whose time is nearly over, or is
	// prolonged because of that.
	ConditionOldSecretStillInUse = "OldSecretStillInUse"
	// ConditionCounted says that it is known how many deliveries a replay has chosen.
	ConditionCounted = "Counted"
	// ConditionComplete says that every delivery that a replay sent has been delivered or has failed.
	ConditionComplete = "Complete"
	// ConditionPreviousRetired says that the former secret is no longer accepted anywhere.
	ConditionPreviousRetired = "PreviousRetired"
)

// Reasons of a WebhookEndpoint's conditions. Ready has that of the fault that people should hear of first. Faults of
// Secrets, keyrings and specs have the same reasons in a SecretRotation, beside its states (see SecretRotationStatus).
// DatabaseReachable may have a receiver's own word for what Postgres said.
const (
	ReasonAvailable                 = "Available"
	ReasonProgressing               = "Progressing"
	ReasonSuspended                 = "Suspended"
	ReasonInvalidSpec               = "InvalidSpec"
	ReasonResourceConflict          = "ResourceConflict"
	ReasonRetrying                  = "ProgressingWithRetry"
	ReasonTerminating               = "NamespaceTerminating"
	ReasonConfigRefused             = "ConfigurationRefused"
	ReasonReceiversAvailable        = "ReceiversAvailable"
	ReasonReceiversRollingOut       = "RollingOut"
	ReasonConnected                 = "Connected"
	ReasonDatabaseUnreachable       = "DatabaseUnreachable"
	ReasonDatabaseUnknown           = "NoReceiverReports"
	ReasonSchemaTooNew              = "SchemaTooNew"
	ReasonDurable                   = "Durable"
	ReasonNotDurable                = "NotDurable"
	ReasonDualSecrets               = "DualSecrets"
	ReasonSingleSecret              = "SingleSecret"
	ReasonWithinThreshold           = "WithinThreshold"
	ReasonDeliveriesFailing         = "DeliveriesFailing"
	ReasonEffectsFailing            = "EffectsFailing"
	ReasonDestinationSecretUnusable = "DestinationSecretUnusable"
	ReasonStatsUnavailable          = "StatsUnavailable"
	ReasonPruneSucceeded            = "Succeeded"
	ReasonPruneNotRunYet            = "NotRunYet"
	ReasonPruneFailed               = "JobFailed"
	ReasonSecretRefNotUpdated       = "SecretRefNotUpdated"
	ReasonSecretRefReverted         = "SecretRefReverted"
)

// Reasons of Secrets: whether the users' can be read, and what is wrong with a text that cannot be a signing secret.
const (
	ReasonResolved           = "Resolved"
	ReasonServingFromKeyring = "ServingFromKeyring"
	ReasonSecretNotFound     = "SecretNotFound"
	ReasonSecretKeyMissing   = "SecretKeyMissing"
	ReasonSecretEmpty        = "SecretEmpty"
	ReasonSecretTooShort     = "SecretTooShort"
	ReasonSecretTooLong      = "SecretTooLong"
	ReasonSecretUndecodable  = "SecretUndecodable"
	ReasonSecretWhitespace   = "SecretWhitespace"
	ReasonSecretWrongPrefix  = "SecretWrongPrefix"
	ReasonSecretMasked       = "SecretMasked"
	ReasonSecretRevoked      = "SecretRevoked"
)

// Reasons of the keyring: changed by hand, written by another release, or gone and made anew.
const (
	ReasonKeyringDamaged = "KeyringDamaged"
	ReasonKeyringVersion = "KeyringVersion"
	ReasonKeyringLost    = "KeyringLost"
)

// Reasons of a DeliveryReplay's conditions: its states, and what keeps it from going on.
const (
	ReasonReplayCounting         = "Counting"
	ReasonReplayAwaitingApproval = "AwaitingApproval"
	ReasonReplaySending          = "Sending"
	ReasonReplayDelivering       = "Delivering"
	ReasonReplayCompleted        = "Completed"
	ReasonReplayTooManyFailures  = "TooManyFailures"
	ReasonReplayJobFailed        = "JobFailed"
	ReasonEndpointNotFound       = "EndpointNotFound"
)
