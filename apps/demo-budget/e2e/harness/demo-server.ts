import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../../tests/support/free-port.ts';
import { endWithTests } from './children.ts';

const serveFile = fileURLToPath(new URL('../../server/serve.ts', import.meta.url));

/** From starting the process to its URL; about half a second, several on a machine that is busy with other things. */
const startDeadlineMs = 30_000;

/**
 * The demo's server as its own process, on one port and one data folder for its whole life, however often it is killed.
 */
export interface DemoServer {
  readonly port: number;
  readonly dataFolder: string;
  /** Resolves when it answers. */
  start(): Promise<void>;
  /** Resolves when the process is gone. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** What it has printed so far, over all its lives. */
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
      const giveUp = (why: string): void => reject(new Error(`The server ${why}. It said:\n${output.slice(from)}`));
      const deadline = setTimeout(() => giveUp('did not say its address in time'), startDeadlineMs);
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
      started.once('exit', (code, signal) => settle(() => giveUp(`ended (${signal ?? code})`)));
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
