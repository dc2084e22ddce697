import { isErrorCode, messageOf, recoveryOf, type ErrorCode, type Recovery } from './error-codes.ts';

/** Facts about an error: names, numbers, counts. Never a row value or an SQL parameter. */
export type ErrorFields = Readonly<Record<string, string | number | boolean | null>>;

/** An error as plain data, for threads, the wire and storage. */
export interface ErrorData {
  readonly code: ErrorCode;
  readonly fields: ErrorFields;
  readonly recovery: Recovery;
  readonly message: string;
}

/** The error class of Rockpool: a code from the list of codes, fields, and a recovery. */
export class RockpoolError extends Error {
  readonly code: ErrorCode;
  readonly fields: ErrorFields;

  constructor(code: ErrorCode, fields: ErrorFields = {}, options?: { readonly cause?: unknown }) {
    super(describe(code, fields), options);
    this.name = 'RockpoolError';
    this.code = code;
    this.fields = fields;
  }

  get recovery(): Recovery {
    return recoveryOf(this.code);
  }

  toData(): ErrorData {
    return { code: this.code, fields: this.fields, recovery: this.recovery, message: this.message };
  }

  /** Restores an error from another thread or machine. An unknown code becomes `internal`. */
  static fromData(data: { readonly code: string; readonly fields?: unknown }): RockpoolError {
    if (!isErrorCode(data.code)) return new RockpoolError('internal', { reportedCode: data.code.slice(0, 64) });
    return new RockpoolError(data.code, plainFields(data.fields));
  }
}

/** Turns any thrown value into a RockpoolError. A foreign error becomes `internal`, with its name only. */
export function toRockpoolError(thrown: unknown): RockpoolError {
  if (thrown instanceof RockpoolError) return thrown;
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  return new RockpoolError('internal', { thrown: name }, { cause: thrown });
}

function describe(code: ErrorCode, fields: ErrorFields): string {
  const facts = Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`);
  return facts.length === 0 ? messageOf(code) : `${messageOf(code)} (${facts.join(', ')})`;
}

function plainFields(fields: unknown): ErrorFields {
  if (typeof fields !== 'object' || fields === null) return {};
  const plain: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      plain[name] = value;
  }
  return plain;
}
