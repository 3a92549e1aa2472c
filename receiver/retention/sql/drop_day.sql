SELECT hookonce.drop_day($1)
