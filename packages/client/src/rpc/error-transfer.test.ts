import { RockpoolError } from '@rockpool/shared';
import { expose, wrap, type Endpoint, type Remote } from 'comlink';
import { afterEach, describe, expect, it } from 'vitest';
import { installErrorTransfer } from './error-transfer.ts';

interface FailingApi {
  throwTyped(): void;
  rejectTyped(): Promise<void>;
  throwFault(): void;
  throwValue(): void;
  returnFunction(): unknown;
}

const ports: MessagePort[] = [];

/** Sends an error over a real channel, so that it is serialised and read back. */
function connect(): Remote<FailingApi> {
  installErrorTransfer();
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const api: FailingApi = {
    throwTyped: () => {
      throw new RockpoolError('constraint-unique', { table: 'account', columns: 'name' });
    },
    rejectTyped: () => Promise.reject(new RockpoolError('storage-full', { neededBytes: 10 })),
    throwFault: () => {
      throw new TypeError('x is not a function');
    },
    throwValue: () => {
      throw 'secret balance 4711';
    },
    returnFunction: () => () => 1,
  };
  expose(api, port1 as Endpoint);
  return wrap<FailingApi>(port2 as Endpoint);
}

async function failureOf(promise: PromiseLike<unknown>): Promise<RockpoolError> {
  const failure = await Promise.resolve(promise).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(RockpoolError);
  return failure as RockpoolError;
}

afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

describe('an error that crosses threads', () => {
  it('keeps code, fields, recovery and message when thrown', async () => {
    const error = await failureOf(connect().throwTyped());
    expect(error.toData()).toEqual(
      new RockpoolError('constraint-unique', { table: 'account', columns: 'name' }).toData(),
    );
    expect(error.recovery).toBe('ask-user');
  });

  it('keeps code, fields, recovery and message in a rejected promise', async () => {
    const error = await failureOf(connect().rejectTyped());
    expect(error.code).toBe('storage-full');
    expect(error.fields).toEqual({ neededBytes: 10 });
    expect(error.recovery).toBe('free-space');
  });

  it('becomes internal if it was a fault, with the fault as its cause', async () => {
    const error = await failureOf(connect().throwFault());
    expect(error.code).toBe('internal');
    expect(error.fields).toEqual({ thrown: 'TypeError' });
    expect((error.cause as Error).message).toBe('x is not a function');
  });

  it('never carries a thrown value', async () => {
    const error = await failureOf(connect().throwValue());
    expect(error.code).toBe('internal');
    expect(JSON.stringify([error.toData(), error.cause, error.stack])).not.toContain('4711');
  });

  it('is typed even if the result cannot be cloned', async () => {
    expect((await failureOf(connect().returnFunction())).code).toBe('internal');
  });
});
