-- Notes something that was done, and drops the oldest of what is over the limit.
--
-- ARGV[5]  how many are kept
-- ARGV[6]  the entry, JSON
-- Body     {}

if repeated then
  return answer(repeated)
end

call('XADD', prefix .. 'audit', 'MAXLEN', ARGV[5], '*', 'entry', ARGV[6])
return finish({})
