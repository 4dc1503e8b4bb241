-- Remembers what another store did, in the order given.
--
-- ARGV  to the end, each one of
--         'reserved', queue, id, until when
--         'receipt', the receipt as commit.lua has it, when
--         'keyed', key, when, request, letters, blob, queue or ''
-- Body  {}

if repeated then
  return answer(repeated)
end

while i <= #ARGV do
  local what = next_arg()
  if what == 'reserved' then
    local q, id, until_ms = open(next_arg()), next_arg(), next_number()
    if q then
      call('ZADD', q.reserved, whole(until_ms), id)
      plan(q.reserved, until_ms)
    end
  elseif what == 'receipt' then
    leave_receipt(next_arg(), next_number())
  else
    local key = next_arg()
    remember(key, {next_number(), next_arg(), next_arg(), next_arg(), next_arg()})
  end
end
return finish({})
