// Runs a browser or driver as a child process: starts it, waits until it is ready, and always ends it.

import { spawn } from 'node:child_process';

/** Time a process has to exit by itself before it is killed. */
const graceMs = 5_000;
const startTimeoutMs = 60_000;
const lookAgainMs = 50;

/**
 * @template T
 * @param {string} program
 * @param {readonly string[]} args
 * @param {(output: string) => Promise<T | undefined> | T | undefined} ready called repeatedly with all output so far
 * until it returns a result
 * @param {Record<string, string>} [env] added to the environment of this process
 * @returns {Promise<{ value: T, stop: () => Promise<void>, kill: () => Promise<void> }>} `kill` ends it at once
 */
export async function startProcess(program, args, ready, env = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  let output = '';
  let end = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-10_000)));
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve((end = `could not be started: ${error.message}`)));
    child.once('close', () => resolve((end ||= 'ended')));
  });
  const stop = async () => {
    process.off('exit', kill);
    child.kill('SIGTERM');
    const timer = setTimeout(kill, graceMs);
    await ended;
    clearTimeout(timer);
  };
  const killed = async () => {
    process.off('exit', kill);
    kill();
    await ended;
  };
  for (const deadline = Date.now() + startTimeoutMs; ;) {
    const value = await ready(output);
    if (value !== undefined) return { value, stop, kill: killed };
    if (end === '' && Date.now() > deadline) end = `was not ready after ${startTimeoutMs / 1000} s`;
    if (end !== '') {
      await stop();
      throw new Error(`${program} ${end}\n${output.slice(-2000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}
