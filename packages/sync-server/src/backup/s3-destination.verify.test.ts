import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { motoProblem, startMoto, type MotoServer } from '../../testing/moto-server.ts';
import { describeDestination } from './destination.contract.ts';
import { S3Destination, type S3Options } from './s3-destination.ts';

const problem = motoProblem();
const KEYS = { region: 'eu-west-1', accessKeyId: 'key', secretAccessKey: 'a secret', pathStyle: true };

describe.skipIf(problem !== null)(`S3${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  let moto: MotoServer;
  let bucket = '';
  let number = 0;
  beforeAll(async () => {
    moto = await startMoto();
  });
  afterAll(() => moto.stop());
  beforeEach(async () => {
    bucket = `copies-${++number}`;
    await fetch(`${moto.url}/${bucket}`, { method: 'PUT' });
  });

  const open = (options: Partial<S3Options> = {}): S3Destination =>
    new S3Destination({ ...KEYS, bucket, endpoint: moto.url, ...options });

  const manyKeys = 1_050;
  describeDestination('a bucket', { open, breakNow: () => open({ endpoint: 'http://127.0.0.1:9' }), manyKeys });
  describeDestination('a prefix of a bucket', {
    open: () => open({ prefix: 'of/a & <b>' }),
    breakNow: () => open({ bucket: 'no-such-bucket' }),
    manyKeys,
  });
});
