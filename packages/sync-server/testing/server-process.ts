import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeSchema } from '@rockpool/shared';
import { onTestFinished } from 'vitest';
import { issueToken } from '../src/auth/jwt.ts';
import type { Role } from '../src/auth/role.ts';
import { TestConnection, type TestSite } from './test-client.ts';
import { TEST_SCHEMA } from './test-schema.ts';
import { DATABASE, TEST_SECRET } from './test-server.ts';

const BIN = fileURLToPath(new URL('../bin/rockpool-server.mjs', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command and waits for its exit. It gets SIGTERM when `stopped` resolves. */
export function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  stopped?: Promise<unknown>,
): Promise<Finished> {
  const child = spawn(process.execPath, [BIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  void stopped?.then(() => child.kill('SIGTERM'));
  return finished(child);
}

/** Writes schema and secret to a folder and returns the flags of a server there. */
export function serverFlags(folder: string): string[] {
  const schema = join(folder, 'schema.json');
  const secret = join(folder, 'secret');
  writeFileSync(schema, encodeSchema(TEST_SCHEMA));
  writeFileSync(secret, `${TEST_SECRET}\n`);
  return ['--data', join(folder, 'data'), '--schema', schema, '--port', '0', '--secret-file', secret];
}

/** The command as a separate process that can be killed. */
export class ServerProcess {
  readonly url: string;
  private readonly child: ChildProcess;
  private readonly end: Promise<Finished>;

  private constructor(child: ChildProcess, url: string, end: Promise<Finished>) {
    this.child = child;
    this.url = url;
    this.end = end;
  }

  static async start(
    folder: string,
    flags: readonly string[] = serverFlags(folder),
    environment: Readonly<Record<string, string>> = {},
    stderr: number | 'pipe' = 'pipe',
  ): Promise<ServerProcess> {
    const child: ChildProcess = spawn(process.execPath, [BIN, ...flags], {
      stdio: ['ignore', 'pipe', stderr],
      env: { ...process.env, ...environment },
    });
    const end = finished(child);
    const url = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        const [, found] = /listening on http:\/\/(\S+)\s/.exec(said) ?? [];
        if (found !== undefined) resolve(`ws://${found}/sync`);
      });
      void end.then(({ stderr }) => reject(new Error(`the server ended before it was ready: ${stderr}`)));
    });
    return new ServerProcess(child, url, end);
  }

  token(role: Role = 'editor', principal = 'ann', databaseId: string = DATABASE): Promise<string> {
    return issueToken(
      new TextEncoder().encode(TEST_SECRET),
      { principal, databases: [databaseId], role, ttlMs: 3_600_000 },
      Date.now(),
    );
  }

  connect(site?: TestSite): Promise<TestConnection> {
    return TestConnection.connect(this.url, site);
  }

  /** The server's metrics, by name and labels. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const text = await (await fetch(this.url.replace('ws:', 'http:').replace('/sync', '/metrics'))).text();
    return new Map([...text.matchAll(/^(rockpool_\S+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]));
  }

  async signal(signal: NodeJS.Signals): Promise<Finished> {
    this.child.kill(signal);
    return this.end;
  }
}

function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // A failing test must not leave its server running.
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
