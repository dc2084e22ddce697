import { RockpoolError, toRockpoolError, type ErrorData } from '@rockpool/shared';
import { transferHandlers, type TransferHandler } from 'comlink';

/** The form of an error while it crosses threads. */
export interface TransferredError {
  readonly data: ErrorData;
  /** The cause of the error, for the developer's console only. It is never copied to `message` or `fields`. */
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
 * Replaces Comlink's handler for thrown values, which keeps only an error's name, message and stack. With this handler,
 * every error arrives as a `RockpoolError` with code, fields and recovery. Both threads must install it before their
 * first call.
 *
 * Comlink applies handlers to the root value only, so an error inside a status or an event crosses as `ErrorData`.
 */
export function installErrorTransfer(): void {
  // Only Comlink's own handler recognises its private mark on thrown values.
  const { canHandle } = transferHandlers.get('throw') as TransferHandler<unknown, unknown>;
  transferHandlers.set('throw', {
    canHandle,
    serialize: (thrown) => [encodeError((thrown as Thrown).value), []],
    deserialize: (transferred) => {
      throw decodeError(transferred as TransferredError);
    },
  });
}

/** Reports an uncaught error. Browsers have a function for it. */
export function reportUncaught(error: unknown): void {
  if (typeof reportError === 'function') reportError(error);
  else
    queueMicrotask(() => {
      throw error;
    });
}
