import { RockpoolError } from '@rockpool/shared';

/** Facts of an event: names, ids, counts. Never a token, a row value or an SQL parameter. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export type Logger = (event: string, fields: LogFields) => void;

/** One JSON object a line to stderr. */
export const logToStderr: Logger = (event, fields) => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...fields })}\n`);
};

/** A log that fails must not fail what it is told of, such as the answer to a push: the line goes to stderr instead. */
export function neverThrows(log: Logger): Logger {
  return (event, fields) => {
    try {
      log(event, fields);
    } catch (error) {
      logToStderr(event, fields);
      logToStderr('log-failed', errorFields(error));
    }
  };
}

/** What may be told of something thrown: its name and codes. Messages of other people's errors may hold values. */
export function errorFields(thrown: unknown): LogFields {
  const cause = thrown instanceof RockpoolError && thrown.cause !== undefined ? thrown.cause : thrown;
  return {
    code: thrown instanceof RockpoolError ? thrown.code : 'internal',
    name: cause instanceof Error ? cause.name : typeof cause,
    sqliteCode:
      cause instanceof Error && 'errcode' in cause && typeof cause.errcode === 'number' ? cause.errcode : null,
    systemCode: cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : null,
    // Frames of our own files say where; the first line of a stack is the message, so it is left out.
    at:
      cause instanceof Error
        ? (cause.stack
            ?.split('\n')
            .find((line) => /^\s+at /.test(line))
            ?.trim() ?? null)
        : null,
  };
}

/** The names of failures that an operator has to act on; every other one is `push-failed`. */
const FAILURE_EVENTS: ReadonlyMap<string, string> = new Map([
  ['database-damaged', 'database-damaged'],
  ['server-disk-full', 'disk-full'],
]);

/** One line about a database that could not be read or written. */
export function logFailure(log: Logger, database: string, error: unknown): void {
  const event = error instanceof RockpoolError ? FAILURE_EVENTS.get(error.code) : undefined;
  log(event ?? 'push-failed', {
    database,
    ...(event !== undefined && error instanceof RockpoolError && error.fields),
    ...errorFields(error),
  });
}
