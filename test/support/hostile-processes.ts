/** Returns a command that runs a script in another shell, which first writes its id to the file in `$PIDS`. */
function start(script: string, shell = 'sh'): string {
  return `${shell} -c ${quote(`echo $$ >> "$PIDS"; ${script}`)}`;
}

/** Returns the same in another session, and without the environment variables of this shell but two. */
function startAway(script: string): string {
  return `env -i PATH="$PATH" PIDS="$PIDS" setsid ${start(script)}`;
}

function quote(script: string): string {
  return `'${script.replaceAll("'", "'\\''")}'`;
}

const IGNORING = 'trap "" TERM HUP INT; while :; do sleep 1; done';

/**
 * Returns a program in which each process starts the next one, and ends after 4 ms. Each adds a point to the file
 * `$PIDS.beats`, because no list of processes is sure to show it. The chain ends by itself after 2,000 processes.
 */
function chain(before: string): string {
  const program = `use POSIX; $SIG{TERM} = "IGNORE"; open(F, ">>", $ENV{PIDS}); print F "$$\\n"; close F;
    for (1 .. 2000) { exit if fork; ${before} open(F, ">>", "$ENV{PIDS}.beats"); print F "."; close F;
    select(undef, undef, undef, 0.004); }`;
  return `exec perl -e ${quote(program)}`;
}

/**
 * Scripts of the shell that start processes which are hard to find or to end, by what is special. Each writes the ids of
 * what it starts to the file in `$PIDS`.
 */
export const HOSTILE_SCRIPTS: Readonly<Record<string, string>> = {
  'a child': `${start('exec sleep 300')} & wait`,
  'a child in another session': `setsid ${start('exec sleep 300')} & wait`,
  'a child without the environment variables': `env -i PIDS="$PIDS" ${start('exec sleep 300')} & wait`,
  'a child of nohup': `nohup ${start('exec sleep 300')} > /dev/null 2>&1 & wait`,
  'an orphan': `(${start('exec sleep 300')} &); exec sleep 300`,
  'an orphan in another session, without the variables and the output': `(${startAway('exec sleep 300')} > /dev/null 2>&1 &); exec sleep 300`,
  'a daemon that outlives the root': `(${startAway('sleep 300 & echo $! >> "$PIDS"')} < /dev/null > /dev/null 2>&1 &)`,
  'an orphan that keeps the output of a root that has ended': `(${startAway('exec sleep 300')} &)`,
  'processes that ignore what asks them to end': `${start(IGNORING)} & (${startAway(IGNORING)} &) ; ${start(IGNORING)}`,
  'a process that has stopped': `${start('kill -STOP $$; sleep 300')} & wait`,
  'a stopped process that ignores SIGTERM': `${start(`trap "" TERM; kill -STOP $$; ${IGNORING}`)} & wait`,
  'one that starts again what ends': `trap "" TERM; while :; do ${startAway('exec sleep 300')}; done`,
  'one that starts others when it is asked to end': `trap ${quote(`(${startAway(IGNORING)} &) `.replace(/$/, ';').repeat(3))} TERM; echo $$ >> "$PIDS"; while :; do sleep 0.1; done`,
  'a chain of processes of which each starts the next one and ends': chain(''),
  'such a chain with a session for each process': chain('setsid;'),
  'such a chain without the variables': `env -i PATH="$PATH" PIDS="$PIDS" sh -c ${quote(chain('setsid;'))}`,
};
