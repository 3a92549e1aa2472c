SELECT coalesce(pg_relation_size(to_regclass($1)), 0) / current_setting('block_size')::bigint
