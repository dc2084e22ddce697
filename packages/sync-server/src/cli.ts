import { toRockpoolError } from '@rockpool/shared';
import { issueToken } from './auth/jwt.ts';
import { readServeConfig, readTokenConfig, USAGE } from './config.ts';
import { serve } from './serve.ts';

/** The command. Resolves with the exit code, for the server when it was told to stop. */
export async function run(args: readonly string[]): Promise<number> {
  const [command] = args;
  if (command === undefined || command === 'help' || args.includes('--help')) {
    process.stdout.write(USAGE);
    return command === undefined ? 1 : 0;
  }
  try {
    if (command === 'token') await printToken(args.slice(1));
    else await runServer(command === 'serve' ? args.slice(1) : args);
    return 0;
  } catch (error) {
    const { code, fields, message } = toRockpoolError(error);
    process.stderr.write(typeof fields['problems'] === 'string' ? `${code}:\n${fields['problems']}\n` : `${message}\n`);
    return 1;
  }
}

async function printToken(flags: readonly string[]): Promise<void> {
  const { secret, databaseId, principal, role, ttlMs } = readTokenConfig(flags);
  process.stdout.write(`${await issueToken(secret, { principal, databases: [databaseId], role, ttlMs }, Date.now())}\n`);
}

async function runServer(flags: readonly string[]): Promise<void> {
  const config = readServeConfig(flags);
  const stopped = stopSignal();
  const server = await serve(config);
  process.stdout.write(`listening on ${server.url}\n`);
  await stopped;
  await server.stop();
}

/** The first SIGINT or SIGTERM asks for a clean stop; a second one, with the default behaviour back, ends the process. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
