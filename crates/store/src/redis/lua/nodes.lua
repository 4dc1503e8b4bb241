-- Reads which servers are there.
--
-- ARGV  -
-- Body  what each says about itself, after the time in milliseconds when it last did

return answer(call('HVALS', prefix .. 'nodes'))
