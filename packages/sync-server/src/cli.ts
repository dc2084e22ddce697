import { toRockpoolError } from '@rockpool/shared';
import { issueToken } from './auth/jwt.ts';
import { runBackup, runRestore } from './cli/backup.ts';
import { readServeConfig, readTokenConfig, SERVE_SETTINGS, TOKEN_SETTINGS } from './cli/config.ts';
import { runDatabases } from './cli/databases.ts';
import { runDoctor } from './cli/doctor.ts';
import { settingsHelp, type Sources } from './cli/settings.ts';
import { serve } from './serve.ts';

const USAGE = `rockpool-server [serve] SETTINGS
    Runs the sync server until SIGINT or SIGTERM. Each setting is a flag, or an environment variable such as ROCKPOOL_SECRET_FILE, or a
    member of the JSON file that --config names; the first of these that has it counts.
${settingsHelp(SERVE_SETTINGS)}
rockpool-server token SETTINGS
    Prints a token that opens one database.
${settingsHelp(TOKEN_SETTINGS)}
rockpool-server databases (--data DIR | --postgres URL) list | inspect ID | export ID FILE | import ID FILE | delete ID
    With a directory, import and delete only while no server runs on it.

rockpool-server backup DIR --data DIR      every database and the members, while the server runs
rockpool-server restore DIR --data DIR     into a data directory without databases
rockpool-server doctor (--data DIR | --postgres URL) [--schema FILE]
    Checks the place and every database in it. Exit code 1 where something is wrong.
`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Each returns the exit code, or nothing for 0. */
const COMMANDS: Readonly<Record<string, (sources: Sources) => Promise<number | void> | number | void>> = {
  serve: runServer,
  token: async (sources) => {
    const { secret, request, rules } = readTokenConfig(sources);
    print(await issueToken(secret, request, Date.now(), rules));
  },
  databases: (sources) => runDatabases(sources, print),
  backup: (sources) => runBackup(sources, print),
  restore: (sources) => runRestore(sources, print),
  doctor: async (sources) => ((await runDoctor(sources, print)) ? 0 : 1),
};

/** The command. Resolves with the exit code, for the server when it was told to stop. */
export async function run(args: readonly string[]): Promise<number> {
  const [name] = args;
  if (name === undefined || name === 'help' || args.includes('--help')) {
    process.stdout.write(USAGE);
    return name === undefined ? 1 : 0;
  }
  const command = COMMANDS[name];
  try {
    return (
      (await (command ?? runServer)({
        flags: command === undefined ? args : args.slice(1),
        environment: process.env,
      })) ?? 0
    );
  } catch (error) {
    const { code, fields, message } = toRockpoolError(error);
    process.stderr.write(typeof fields['problems'] === 'string' ? `${code}:\n${fields['problems']}\n` : `${message}\n`);
    return 1;
  }
}

async function runServer(sources: Sources): Promise<void> {
  const config = readServeConfig(sources);
  const stopped = stopSignal();
  const server = await serve(config);
  print(`listening on ${server.url}`);
  await stopped;
  await server.stop();
}

/**
 * The first SIGINT or SIGTERM asks for a clean stop; a second one, with the default behaviour back, ends the process.
 */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
