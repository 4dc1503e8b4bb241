-- Reads the bundle of a queue that is due first.
--
-- ARGV  queue
-- Body  {what `shown_owner` tells}; {}: there is none

for _, name in ipairs(call('ZRANGE', prefix .. 'bundles:due:' .. escape(ARGV[5]), 0, 99)) do
  local o = owner_at('bundle', ARGV[5], name)
  if find_owner(o) then
    return answer({(shown_owner(o))})
  end
end
return answer({})
