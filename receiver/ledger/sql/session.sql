-- What every transaction asserts for itself. Nothing is left on the session: poolers hand it to others.
SELECT set_config('lock_timeout', $1, true),
       set_config('statement_timeout', $2, true),
       set_config('idle_in_transaction_session_timeout', $3, true),
       set_config('synchronous_commit', CASE current_setting('synchronous_commit')
         WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
