import { RockpoolError } from '@rockpool/shared';

/** Fields of an event: names, ids, addresses, counts. Never a token, a row value or an SQL parameter. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export type Logger = (event: string, fields: LogFields) => void;

const outlived = new WeakSet<NodeJS.WriteStream>();

/**
 * Makes failed writes to stdout or stderr lose their text instead of ending the process, for example if the disk of a
 * log file is full, or the program that reads the log has ended. Later writes are tried again.
 */
export function outlive(stream: NodeJS.WriteStream): void {
  if (outlived.has(stream)) return;
  outlived.add(stream);
  stream.on('error', () => undefined);
}

/** Writes one JSON object per line to stderr. A line that cannot be written is lost. */
export const logToStderr: Logger = (event, fields) => {
  outlive(process.stderr);
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...fields })}\n`);
};

/**
 * Wraps a logger so that its failure cannot fail the logged operation, such as a push. The line goes to stderr instead.
 */
export function neverThrows(log: Logger): Logger {
  return (event, fields) => {
    const failed = (error: unknown): void => {
      logToStderr(event, fields);
      logToStderr('log-failed', errorFields(error));
    };
    try {
      const written: unknown = log(event, fields);
      // TypeScript accepts an asynchronous function as a logger. Unhandled, its rejection would end the process.
      if (written instanceof Promise) written.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** Returns the loggable fields of a refusal: its code, and the claim of the token that was refused. */
export function refusalFields({ code, fields: { claim } }: RockpoolError): LogFields {
  return { code, ...(typeof claim === 'string' && { claim }) };
}

/**
 * Returns the loggable fields of an error: its name, codes and what the server knows about the cause. Messages of other
 * libraries' errors may contain values.
 */
export function errorFields(thrown: unknown): LogFields {
  const { problem, systemCode } = thrown instanceof RockpoolError ? thrown.fields : {};
  const cause = thrown instanceof RockpoolError && thrown.cause !== undefined ? thrown.cause : thrown;
  return {
    code: thrown instanceof RockpoolError ? thrown.code : 'internal',
    name: cause instanceof Error ? cause.name : typeof cause,
    sqliteCode:
      cause instanceof Error && 'errcode' in cause && typeof cause.errcode === 'number' ? cause.errcode : null,
    systemCode: typeof systemCode === 'string' ? systemCode : systemCodeOf(cause),
    ...(typeof problem === 'string' && { problem }),
    // The first frame has the location. The first line of a stack is the message, so it is omitted.
    at:
      cause instanceof Error
        ? (cause.stack
            ?.split('\n')
            .find((line) => /^\s+at /.test(line))
            ?.trim() ?? null)
        : null,
  };
}

/** For example `ENOSPC`. A Rockpool error has a code of a different kind. */
function systemCodeOf(cause: unknown): string | null {
  if (!(cause instanceof Error) || cause instanceof RockpoolError) return null;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : null;
}

/** The events of failures that need an operator, by error code. Every other failure is `push-failed`. */
const FAILURE_EVENTS: ReadonlyMap<string, string> = new Map([
  ['database-damaged', 'database-damaged'],
  ['server-disk-full', 'disk-full'],
]);

/** Logs that a database could not be read or written. */
export function logFailure(log: Logger, database: string, error: unknown): void {
  const event = error instanceof RockpoolError ? FAILURE_EVENTS.get(error.code) : undefined;
  log(event ?? 'push-failed', {
    database,
    ...(event !== undefined && error instanceof RockpoolError && error.fields),
    ...errorFields(error),
  });
}
