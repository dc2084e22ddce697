import { issueToken } from './auth/jwt.ts';
import { runBackup, runVerify } from './cli/backup.ts';
import { readServeConfig, readTokenConfig, SERVE_SETTINGS, TOKEN_SETTINGS } from './cli/config.ts';
import { runDatabases } from './cli/databases.ts';
import { runMembers } from './cli/members.ts';
import { runMove } from './cli/move.ts';
import { runDoctor } from './cli/doctor.ts';
import { countBuffersAsHeap } from './cli/garbage-collection.ts';
import { runRestoreCommand } from './cli/restore.ts';
import { namedEntry } from './cli/named-entry.ts';
import { settingsHelp, type Sources } from './cli/settings.ts';
import { logToStderr, outlive } from './observe/log-line.ts';
import { serve } from './serve.ts';
import { toStoreError } from './store/store-failure.ts';
import { SERVER_VERSION } from './sync-server.ts';

const USAGE = `rockpool-server [serve] SETTINGS
    Runs the sync server until SIGINT or SIGTERM. A setting is a flag, an environment variable such as ROCKPOOL_SECRET_FILE, or a
    member of the JSON file that --config names. Flags override the environment, which overrides the file.
${settingsHelp(SERVE_SETTINGS)}
rockpool-server token SETTINGS
    Prints a token for one database.
${settingsHelp(TOKEN_SETTINGS)}
rockpool-server databases --data DIR COMMAND
    list, inspect ID, export ID FILE                         also while the server runs
    export ID FILE --at TIME                                 a new database with the rows at that time; all tables need a history
    import ID FILE, delete ID, replace ID FILE, accept ID    only while the server is stopped
rockpool-server databases (--postgres URL | --shards FILE) COMMAND
    list, inspect ID, export ID FILE [--at TIME], import ID FILE, delete ID
rockpool-server databases --server URL --admin-token-file FILE COMMAND
    On a running server with the admin API, without stopping other databases:
    list, inspect ID, create ID, export ID FILE, import ID FILE,
    delete ID --confirm ID, replace ID FILE --confirm ID,
    close ID, drain ID, open ID,
    restore ID FROM --at TIME                                a new database ID with the rows that FROM had then

rockpool-server move DATABASE --to SHARD --shards FILE
    Moves a database to another PostgreSQL server while instances run. Run it again if it was interrupted.

rockpool-server members (--data DIR | --postgres URL | --shards FILE) COMMAND
    list ID, set ID PRINCIPAL ROLE, revoke ID PRINCIPAL,
    invitations ID, withdraw ID INVITATION                   also while the server runs, which applies them within 2 s
    revoke-everywhere PRINCIPAL, readmit PRINCIPAL, revoked  locks a principal out of every database, including future ones
    import FILE [ID]                                         adds the members of another server's members.sqlite, or those
                                                             of one database, when databases move here

rockpool-server backup DIR --data DIR      copies every database, the members and the schemas, also while the server
                                           runs; continues after an interruption
rockpool-server verify DIR                 checks every file of a backup
rockpool-server restore DIR --data DIR     restores a backup into a data directory without databases
rockpool-server restore --from PLACE --data DIR [--database ID] [--at TIME] [--replace]
    Restores databases from the place of a continuous backup (--backup-to), as of any second that it keeps.
rockpool-server doctor (--data DIR | --postgres URL | --shards FILE) [--schema FILE]
    Checks the data directory or PostgreSQL, and every database. Exits with 1 if it finds a problem.
rockpool-server --version                  prints the version
`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Each command returns its exit code, or nothing for 0. */
const COMMANDS: Readonly<Record<string, (sources: Sources) => Promise<number | void> | number | void>> = {
  serve: runServer,
  token: async (sources) => {
    const { secret, request, rules } = readTokenConfig(sources);
    print(await issueToken(secret, request, Date.now(), rules));
  },
  databases: (sources) => runDatabases(sources, print),
  backup: (sources) => runBackup(sources, print),
  verify: (sources) => runVerify(sources, print),
  restore: (sources) => runRestoreCommand(sources, print),
  members: (sources) => runMembers(sources, print),
  move: (sources) => runMove(sources, print),
  doctor: async (sources) => ((await runDoctor(sources, print)) ? 0 : 1),
};

/** Runs the command line and resolves with the exit code; for the server, after it has stopped. */
export async function run(args: readonly string[]): Promise<number> {
  const [name] = args;
  if (name === undefined || name === 'help' || args.includes('--help')) {
    process.stdout.write(USAGE);
    return name === undefined ? 1 : 0;
  }
  if (name === '--version' || name === 'version') {
    print(SERVER_VERSION);
    return 0;
  }
  const command = namedEntry(COMMANDS, name);
  try {
    return (
      (await (command ?? runServer)({
        flags: command === undefined ? args : args.slice(1),
        environment: process.env,
        otherSettings: SERVE_SETTINGS,
      })) ?? 0
    );
  } catch (error) {
    process.stderr.write(`${problemOf(error)}\n`);
    return 1;
  }
}

function problemOf(error: unknown): string {
  const { code, fields, message } = toStoreError(error);
  if (typeof fields['problems'] === 'string') return `${code}:\n${fields['problems']}`;
  // Names the system call and the path that the operator has given, such as a directory that cannot be created.
  return error instanceof Error && 'syscall' in error ? error.message : message;
}

async function runServer(sources: Sources): Promise<void> {
  const config = readServeConfig(sources);
  for (const stream of [process.stdout, process.stderr]) outlive(stream);
  countBuffersAsHeap();
  const stopped = stopSignal();
  const server = await Promise.race([serve(config), stopped.then(() => null)]);
  // It may wait for PostgreSQL. What it has accepted by now is at most a moment old; clients send again what is not
  // confirmed.
  if (server === null) return process.exit(0);
  void stopped.then(endLater);
  print(`listening on ${server.url}`);
  if (server.adminUrl !== null) print(`admin page: ${server.adminUrl}`);
  await stopped;
  await server.stop();
}

/**
 * Less than the 30 s that the deployment files give a server to stop. What is not done by then, such as copies to a
 * disk that does not respond, is done after the next start, as after a crash.
 */
const STOP_PATIENCE_MS = 28_000;

function endLater(): void {
  setTimeout(() => {
    logToStderr('stop-overdue', { afterMs: STOP_PATIENCE_MS });
    process.exit(1);
  }, STOP_PATIENCE_MS).unref();
}

/** Resolves at the first SIGINT or SIGTERM, for a clean stop. A second signal of either kind ends the process. */
function stopSignal(): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of signals) process.off(signal, stop);
      resolve();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}
