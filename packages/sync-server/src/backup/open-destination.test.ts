import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openDestination, placeProblems, type BackupPlace } from './open-destination.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
const EMPTY = { AWS_ENDPOINT_URL_S3: '', AWS_REGION: '', AWS_SESSION_TOKEN: '' };

it('an empty variable of AWS counts as missing', async () => {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const place = { to: 's3://copies', pathStyle: true };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const environment = { ...KEYS, ...EMPTY, AWS_ENDPOINT_URL: url };
  expect(placeProblems(place, environment)).toEqual([]);
  await openDestination(place, environment).put('x', new Uint8Array());
  expect(requests[0]?.headers).not.toHaveProperty('x-amz-security-token');
  expect(requests[0]?.headers.authorization).toContain('/us-east-1/s3/');
});

it('the style of URLs is true or false, and not a text', () => {
  const place = (pathStyle: unknown): BackupPlace => ({ to: 's3://copies', pathStyle: pathStyle as boolean });
  expect(placeProblems(place('false'), KEYS)).toEqual(['pathStyle of the backup must be true or false']);
  for (const pathStyle of [true, false, undefined]) expect(placeProblems(place(pathStyle), KEYS)).toEqual([]);
});

it('an endpoint in the environment must be a URL, unless copies go to a folder', () => {
  const environment = { ...KEYS, AWS_ENDPOINT_URL: 'localhost:9000' };
  expect(placeProblems({ to: 's3://copies' }, environment)).toEqual([
    'the endpoint of the backup must be a URL such as https://minio.example.org',
  ]);
  expect(placeProblems({ to: '/mnt/backup' }, environment)).toEqual([]);
});
