-- What every transaction asserts for itself.
SELECT set_config('lock_timeout', $1, true),
       set_config('statement_timeout', $2, true),
       set_config('idle_in_transaction_session_timeout', $2, true)
