import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../../tests/kit/free-port.ts';
import { endWithTests } from './children.ts';

const serveFile = fileURLToPath(new URL('../../server/serve.ts', import.meta.url));

/** Time limit from starting the process to its URL. Only a hang takes this long. */
const startDeadlineMs = 5 * 60_000;

/** The demo's server in its own process. It keeps one port and one data folder across kills and restarts. */
export interface DemoServer {
  readonly port: number;
  readonly dataFolder: string;
  /** Resolves when the server answers requests. */
  start(): Promise<void>;
  /** Resolves when the process has exited. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Everything printed so far, across restarts. */
  output(): string;
}

export async function createDemoServer(dataFolder: string): Promise<DemoServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  let output = '';

  async function start(): Promise<void> {
    const started = spawn(process.execPath, [serveFile], {
      env: { ...process.env, PORT: String(port), ROCKPOOL_DATA: dataFolder },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    endWithTests(started);
    child = started;
    const from = output.length;
    await new Promise<void>((resolve, reject) => {
      const giveUp = (why: string): void => reject(new Error(`The server ${why}. Its output:\n${output.slice(from)}`));
      const deadline = setTimeout(() => giveUp('did not print its address in time'), startDeadlineMs);
      const listen = (chunk: Buffer): void => {
        output += chunk.toString();
        if (output.slice(from).includes(`:${port}`)) settle(resolve);
      };
      const settle = (then: () => void): void => {
        clearTimeout(deadline);
        then();
      };
      started.stdout.on('data', listen);
      started.stderr.on('data', listen);
      started.once('exit', (code, signal) => settle(() => giveUp(`exited (${signal ?? code})`)));
    });
  }

  return {
    port,
    dataFolder,
    start,
    async kill(signal) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
    output: () => output,
  };
}
