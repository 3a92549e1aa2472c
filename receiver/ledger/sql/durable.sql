-- What its commit needs of that again, after functions have run.
SELECT set_config('statement_timeout', $1, true),
       set_config('synchronous_commit', CASE current_setting('synchronous_commit')
         WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
