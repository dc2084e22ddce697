import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../../tests/kit/free-port.ts';

/** `nats-server` is a program of the machine, such as Debian's package: tests that need it are skipped without it. */
export const isNatsMissing: boolean = spawnSync('nats-server', ['--version']).error !== undefined;

/** A real NATS server on a port of its own, which tests may end and start again. */
export class NatsServer {
  readonly port: number;
  private readonly monitorPort: number;
  private readonly config: string;
  private child: ChildProcess | null = null;
  private readonly cleanUp = (): void => {
    this.child?.kill('SIGKILL');
    rmSync(dirname(this.config), { recursive: true, force: true });
  };

  private constructor(port: number, monitorPort: number, config: string) {
    this.port = port;
    this.monitorPort = monitorPort;
    this.config = config;
    process.on('exit', this.cleanUp);
  }

  /** Chooses free ports and writes a configuration file that ends with `settings`. `start` runs the server. */
  static async prepare(settings: string = ''): Promise<NatsServer> {
    const config = join(mkdtempSync(join(tmpdir(), 'rockpool-nats-')), 'nats.conf');
    const [port, monitorPort] = [await freePort(), await freePort()];
    writeFileSync(config, `host: 127.0.0.1\nport: ${port}\nhttp: "127.0.0.1:${monitorPort}"\n${settings}\n`);
    return new NatsServer(port, monitorPort, config);
  }

  static async start(settings?: string): Promise<NatsServer> {
    const server = await NatsServer.prepare(settings);
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const child = spawn('nats-server', ['--config', this.config], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('Server is ready')) resolve();
      });
      child.once('close', () => reject(new Error(`nats-server ended before it was ready: ${said}`)));
    });
  }

  async kill(): Promise<void> {
    const { child } = this;
    this.child = null;
    if (child === null) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  }

  /** The subjects that clients have subscribed to, sorted. */
  async subjects(): Promise<string[]> {
    const { connections } = (await this.monitor('connz?subs=1')) as {
      readonly connections: readonly { readonly subscriptions_list?: readonly string[] }[];
    };
    return connections.flatMap((connection) => connection.subscriptions_list ?? []).sort();
  }

  /** How many connections the server has closed because they read too slowly. */
  async slowConsumers(): Promise<number> {
    return ((await this.monitor('varz')) as { readonly slow_consumers: number }).slow_consumers;
  }

  private async monitor(page: string): Promise<unknown> {
    return (await fetch(`http://127.0.0.1:${this.monitorPort}/${page}`)).json();
  }
}
