// Runs child processes of the scripts. They find Node 24 first on their PATH, receive the signals of the script, and
// never outlive it.

import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** The Node that runs everything except these scripts. npm installs it with the other dependencies. */
export const node24 = join(root, 'node_modules/node/bin/node');

/** Time that a child has to exit by itself after a signal. Longer than a server's own grace period for open sockets. */
const graceMs = 10_000;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** @type {NodeJS.Signals | undefined} */
let receivedSignal;

/** The signal that asked these scripts to exit, if any. A child that exits after the signal has not failed. */
export function stopSignal() {
  return receivedSignal;
}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd] the repository's root unless given
 * @property {Record<string, string | undefined>} [env] added to the environment of this process
 * @property {boolean} [quiet] collects the output instead of showing it
 * @property {(line: string) => void} [onLine] gets the output instead of the terminal, both streams, line by line
 * @property {number} [timeoutMs] the child is killed after that
 * @property {number} [outputGraceMs] how long to read on after the child has exited, while a process that it left
 * behind still has its output open; default: 10,000
 * @property {AbortSignal} [signal] ends the child when it aborts
 */

/**
 * @typedef {object} Ended
 * @property {number} exitCode 128 + the signal's number when a signal ended it; 127 when it could not be started
 * @property {boolean} timedOut
 * @property {string} output what it printed, both streams, when `quiet`
 */

/**
 * Runs a program to its end. Never rejects: returns how it ended.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<Ended>}
 */
export function run(
  program,
  args,
  { cwd = root, env = {}, quiet = false, onLine, timeoutMs, outputGraceMs = graceMs, signal } = {},
) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...childEnvironment(process.env), ...env },
      stdio: quiet || onLine !== undefined ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    });
    running.add(child);
    const abort = () => stop(child, 'SIGTERM');
    signal?.addEventListener('abort', abort, { once: true });
    let output = '';
    let timedOut = false;
    const deadline =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            stop(child, 'SIGTERM');
          }, timeoutMs);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8');
      if (quiet) stream?.on('data', (text) => (output += text));
      else if (stream !== null && onLine !== undefined)
        createInterface({ input: stream, crlfDelay: Infinity }).on('line', onLine);
    }
    const end = (/** @type {number} */ exitCode) => {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', abort);
      running.delete(child);
      resolve({ exitCode, timedOut, output });
    };
    child.once('error', (error) => {
      output += `${program} could not be started: ${error.message}\n`;
      end(127);
    });
    // A process that the child left behind inherits its output, so 'close' might never come.
    child.once('exit', () => {
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, outputGraceMs).unref();
    });
    child.once('close', (code, signal) => end(code ?? 128 + (signal === null ? 0 : signalNumber(signal))));
  });
}

/**
 * Runs Node 24 with these arguments.
 *
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 */
export function runNode24(args, options) {
  return run(node24, args, options);
}

/** @param {NodeJS.ProcessEnv} ours */
function childEnvironment(ours) {
  const path = [join(root, 'node_modules/node/bin'), join(root, 'node_modules/.bin'), ours['PATH'] ?? ''].join(
    delimiter,
  );
  return { ...ours, PATH: path, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
}

/** @param {NodeJS.Signals} signal */
function signalNumber(signal) {
  return { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[/** @type {string} */ (signal)] ?? 0;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
function stop(child, signal) {
  child.kill(signal);
  setTimeout(() => {
    if (running.has(child)) child.kill('SIGKILL');
  }, graceMs).unref();
}

// A terminal sends Ctrl-C to this process and its children, and npm repeats it. Therefore only the first signal counts,
// and a child may receive it twice. Children deliberately stay in our process group, so that killing the group ends all
// of them.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    if (receivedSignal !== undefined) return;
    receivedSignal = signal;
    if (running.size === 0) process.exit(128 + signalNumber(signal));
    for (const child of running) stop(child, signal);
  });
}
