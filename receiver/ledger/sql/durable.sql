-- After functions have run, and settings were reset: the role is the receiver's own again, and the commit has its limit and
-- is durable.
SELECT set_config('role', 'none', false),
       set_config('statement_timeout', $1, true),
       set_config('synchronous_commit', CASE current_setting('synchronous_commit')
         WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
