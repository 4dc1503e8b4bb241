-- Looks for entries of what workers hold that no task agrees with, a piece at a time, and removes them if
-- asked to. That each task is entered is seen to by check.lua.
--
-- ARGV  1 to mend, position: a cursor of SCAN ('0' to begin)
-- Body  {next, lines}: the position to go on from ('' if that was all), and what was found

local CHUNK = 500

local is_mending = ARGV[5] == '1'
local lines = {}

local function is_held_by(worker, member)
  local queue, id = string.match(member, '^([^:]*):(.*)$')
  local q = queue and open(unescape(queue))
  local record = q and q.is_dispatch and find(q, id)
  return record and HELD[record.status] and record.worker == worker
end

local function check_worker(key)
  local worker = unescape(string.sub(key, #prefix + 6))
  for _, member in ipairs(call('SMEMBERS', key)) do
    if not is_held_by(worker, member) then
      lines[#lines + 1] = string.format('%s has %s, but no such task is held by it', key, member)
      if is_mending then
        call('SREM', key, member)
      end
    end
  end
end

local pattern = string.gsub(prefix, '[%*%?%[%]%^\\]', '\\%0') .. 'held:*'
local scanned = call('SCAN', ARGV[6], 'MATCH', pattern, 'COUNT', CHUNK)
for _, key in ipairs(scanned[2]) do
  check_worker(key)
end
return finish({scanned[1] ~= '0' and scanned[1] or '', lines}, {'', {}})
