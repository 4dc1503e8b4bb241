-- Finds the queue a plan belongs to.
--
-- ARGV  id of the plan
-- Body  {queue}; {}: no such plan here

return answer({station_of(ARGV[5])})
