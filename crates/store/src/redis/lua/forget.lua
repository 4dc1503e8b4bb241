-- Forgets all receipts and keyed requests, and what was done.
--
-- ARGV  none
-- Body  {}

local STRINGS = 16384

if repeated then
  return answer(repeated)
end

call('UNLINK', keyed_key, order_key, prefix .. 'audit', prefix .. 'audit:ring')
for n = 0, STRINGS - 1 do
  local string_name = string.format('%04x', n)
  call('UNLINK', receipt_key(string_name, now - RECEIPT_MS), receipt_key(string_name, now))
end
return finish({})
