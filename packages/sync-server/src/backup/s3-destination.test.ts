import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { S3Destination } from './s3-destination.ts';

/** A bucket whose server answers every request with this body. */
const answering = (body: string): Promise<S3Destination> => served((response) => void response.end(body));

async function served(answer: (response: ServerResponse) => void): Promise<S3Destination> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  onTestFinished(() => server.closeAllConnections());
  return new S3Destination({
    ...{ bucket: 'copies', region: 'eu-west-1', pathStyle: true, accessKeyId: 'key', secretAccessKey: 'a secret' },
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
}

const listed = async (destination: S3Destination): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of destination.list('')) keys.push(key);
  return keys;
};

const CONTENTS = '<Contents><Key>a</Key><Size>1</Size></Contents>';

it('a response that is not a complete listing does not count as an empty bucket', async () => {
  const whole = `<?xml version="1.0"?><ListBucketResult>${CONTENTS}</ListBucketResult>`;
  expect(await listed(await answering(whole))).toEqual(['a']);
  for (const body of ['<html>Sign in</html>', '', whole.slice(0, -5), '<Error><Code>InternalError</Code></Error>'])
    await expect(listed(await answering(body))).rejects.toMatchObject({
      code: 'backup-unavailable',
      fields: { operation: 'list' },
    });
});

it('a listing that names no next page does not count as the last one', async () => {
  const page = (rest: string): string =>
    `<ListBucketResult><IsTruncated>true</IsTruncated>${CONTENTS}${rest}</ListBucketResult>`;
  for (const rest of ['', '<NextMarker>a</NextMarker>', '<NextContinuationToken></NextContinuationToken>'])
    await expect(listed(await answering(page(rest)))).rejects.toMatchObject({
      code: 'backup-unavailable',
      fields: { operation: 'list' },
    });
});

it('a missing bucket does not count as a missing object', async () => {
  const missing = (code: string): Promise<S3Destination> =>
    served((response) => void response.writeHead(404).end(`<Error><Code>${code}</Code></Error>`));
  expect(await (await missing('NoSuchKey')).get('a')).toBeNull();
  await expect((await missing('NoSuchBucket')).get('a')).rejects.toMatchObject({
    code: 'backup-unavailable',
    fields: { operation: 'get', status: 404 },
  });
});

it('objects that the storage could not delete do not count as deleted', async () => {
  const result = (content: string): Promise<S3Destination> => answering(`<DeleteResult>${content}</DeleteResult>`);
  await (await result('')).delete(['a']);
  const failed = await result('<Error><Key>a</Key><Code>AccessDenied</Code></Error>');
  await expect(failed.delete(['a'])).rejects.toMatchObject({
    code: 'backup-unavailable',
    fields: { operation: 'delete' },
  });
});

/** Collects garbage in a separate turn of the event loop: a WeakRef keeps its target alive for the rest of a turn. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await new Promise((resolve) => setImmediate(resolve));
  collect();
}

it.each<[string, (response: ServerResponse) => void]>([
  ['a response', () => undefined],
  ['the rest of its response', (response) => void response.writeHead(200, { 'content-length': 9 }).write('part')],
])('a destination that is closed rejects a request without %s, and later requests', async (_, answer) => {
  const received = Promise.withResolvers<void>();
  const destination = await served((response) => {
    answer(response);
    received.resolve();
  });
  const failure = destination.put('a', new Uint8Array(1)).then(
    () => null,
    (error: unknown) => error,
  );
  await received.promise;
  await collectGarbage();
  destination.close();
  expect(await failure).toMatchObject({ code: 'backup-unavailable', fields: { operation: 'put' } });
  await expect(destination.get('a')).rejects.toMatchObject({ code: 'backup-unavailable' });
});
