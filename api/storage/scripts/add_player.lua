-- Store a new player.
--
-- KEYS[1]  the player: hash
-- ARGV[1]  name
-- ARGV[2]  kind
-- ARGV[3]  hash of the token
-- ARGV[4]  time to live, in milliseconds
--
-- Returns nothing.

redis.call('HSET', KEYS[1], 'name', ARGV[1], 'kind', ARGV[2], 'token', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
