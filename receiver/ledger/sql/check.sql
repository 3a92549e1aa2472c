SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
       current_setting('synchronous_standby_names'), pg_is_in_recovery(),
       to_regclass('hookonce.schema_version') IS NOT NULL
