import { RockpoolError, toRockpoolError, type ErrorData } from '@rockpool/shared';
import { transferHandlers } from 'comlink';

/** How an error crosses between threads. */
export interface TransferredError {
  readonly data: ErrorData;
  /** For the developer's console only: where a fault came from. It never reaches `message` or `fields`. */
  readonly cause: { readonly name: string; readonly message: string; readonly stack: string } | null;
}

export function encodeError(thrown: unknown): TransferredError {
  const error = toRockpoolError(thrown);
  const { cause } = error;
  return {
    data: error.toData(),
    cause: cause instanceof Error ? { name: cause.name, message: cause.message, stack: cause.stack ?? '' } : null,
  };
}

export function decodeError(transferred: TransferredError): RockpoolError {
  const error = RockpoolError.fromData(transferred.data);
  const { cause } = transferred;
  if (cause === null) return error;
  return new RockpoolError(error.code, error.fields, { cause: Object.assign(new Error(cause.message), cause) });
}

interface Thrown {
  readonly value: unknown;
}

/**
 * Comlink carries only name, message and stack of an error, and throws whatever else was thrown as it is. This puts a
 * handler in the place of its own: what arrives is always a `RockpoolError` with code, fields and recovery. Both
 * threads must call it before their first call.
 *
 * Comlink applies handlers to the root value only: an error inside a status or an event crosses as `ErrorData`.
 */
export function installErrorTransfer(): void {
  const original = transferHandlers.get('throw');
  if (original === undefined) throw new Error('comlink has no handler named "throw": its version changed');
  transferHandlers.set('throw', {
    // The mark on a thrown value is comlink's secret; only its own handler recognises it.
    canHandle: original.canHandle,
    serialize: (thrown) => [encodeError((thrown as Thrown).value), []],
    deserialize: (transferred) => {
      throw decodeError(transferred as TransferredError);
    },
  });
}
