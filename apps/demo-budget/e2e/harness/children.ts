import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();

/**
 * Kills a process group when the tests end early, for example by Ctrl+C or a time limit. Only for processes started
 * with `detached`: each leads its own process group.
 */
export function endWithTests(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

process.on('exit', () => {
  for (const child of running) killGroup(child);
});

/**
 * Kills the process and all its descendants at once, without a chance to clean up. Does nothing if the process has
 * exited.
 */
export function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}
