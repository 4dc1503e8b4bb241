-- Writes something small, to see whether that is possible.
--
-- ARGV  -
-- Body  {}

call('HSET', KEYS[1], 'alive', seconds(now))
return finish({})
