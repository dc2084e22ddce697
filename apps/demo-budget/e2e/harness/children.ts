import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();

/**
 * Ends a process with its whole group when the tests end before they could, such as by Ctrl+C or a time limit. For
 * processes that were started with `detached`, which makes each the leader of a group of its own.
 */
export function endWithTests(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

process.on('exit', () => {
  for (const child of running) killGroup(child);
});

/** Kills the process and all that it has started, at once and without a word. Does nothing when it has gone. */
export function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}
