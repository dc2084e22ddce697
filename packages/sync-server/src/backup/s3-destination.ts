import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { unavailable, type Destination, type StoredObject } from './destination.ts';

/** Where S3-compatible storage is, and the key to it. */
export interface S3Options {
  readonly bucket: string;
  /** The prefix of all keys, without slashes at its ends. Default: none. */
  readonly prefix?: string;
  readonly region: string;
  /** The endpoint of a server other than AWS, such as `https://minio.example.org`. */
  readonly endpoint?: string | undefined;
  /** Whether the bucket is in the path instead of the host name. Most servers other than AWS need it. */
  readonly pathStyle?: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** A request without a response after this time has failed. An object has at most a few megabytes. */
const REQUEST_TIMEOUT_MS = 60_000;

const MAX_DELETED_AT_ONCE = 1_000;

/** Stores copies in a bucket of S3 or of a server with the same protocol. */
export class S3Destination implements Destination {
  readonly name: string;
  private readonly client: AwsClient;
  /** The URL of the bucket, with a slash at its end. */
  private readonly bucketUrl: string;
  private readonly prefix: string;
  private readonly requests = new Set<AbortController>();
  private isClosed = false;

  constructor(options: S3Options) {
    const { bucket, prefix = '', region, accessKeyId, secretAccessKey, sessionToken } = options;
    this.name = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
    this.prefix = prefix === '' ? '' : `${prefix}/`;
    this.bucketUrl = bucketUrl(options);
    this.client = new AwsClient({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 's3',
      region,
    });
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.send('put', 'PUT', this.urlOf(key), bytes);
  }

  async get(key: string): Promise<Uint8Array | null> {
    const response = await this.send('get', 'GET', this.urlOf(key), undefined, 404);
    if (response.status !== 404) return new Uint8Array(response.body);
    // A missing bucket must not look like an empty backup.
    if (decode(response).includes('NoSuchBucket')) throw unavailable(this.name, 'get', { status: 404 });
    return null;
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    for (let next: string | null = ''; next !== null;) {
      const url = new URL(this.bucketUrl);
      url.searchParams.set('list-type', '2');
      url.searchParams.set('prefix', this.prefix + prefix);
      if (next !== '') url.searchParams.set('continuation-token', next);
      const xml = decode(await this.send('list', 'GET', url.href));
      // A proxy may answer in place of the storage, and an incomplete list must not count as a complete one.
      if (!xml.includes('</ListBucketResult>')) throw unavailable(this.name, 'list', {});
      const page: ListedPage | null = readListing(xml);
      if (page === null) throw unavailable(this.name, 'list', {});
      for (const { key, sizeBytes } of page.objects) yield { key: key.slice(this.prefix.length), sizeBytes };
      next = page.next;
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (let done = 0; done < keys.length; done += MAX_DELETED_AT_ONCE) {
      const some = keys.slice(done, done + MAX_DELETED_AT_ONCE);
      const objects = some.map((key) => `<Object><Key>${escapeXml(this.prefix + key)}</Key></Object>`).join('');
      const body = new TextEncoder().encode(`<Delete><Quiet>true</Quiet>${objects}</Delete>`);
      const answer = decode(
        await this.send('delete', 'POST', `${this.bucketUrl}?delete`, body, undefined, {
          'content-md5': createHash('md5').update(body).digest('base64'),
          'content-type': 'application/xml',
        }),
      );
      // The request succeeds even if some objects were not deleted.
      if (answer.includes('<Error>')) throw unavailable(this.name, 'delete', {});
    }
  }

  close(): void {
    this.isClosed = true;
    for (const request of this.requests) request.abort();
  }

  private urlOf(key: string): string {
    return this.bucketUrl + (this.prefix + key).split('/').map(encodeURIComponent).join('/');
  }

  /** Sends one request. The copier decides when to retry, and reports the failure. */
  private async send(
    operation: string,
    method: string,
    url: string,
    body?: Uint8Array,
    allowedStatus?: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly body: ArrayBuffer }> {
    let response: Response;
    let received: ArrayBuffer;
    const request = new AbortController();
    if (this.isClosed) request.abort();
    const timer = setTimeout(() => request.abort(new DOMException('no response', 'TimeoutError')), REQUEST_TIMEOUT_MS);
    this.requests.add(request);
    try {
      // Signed without the signal: a request that is created from another request loses its signal when garbage is
      // collected.
      const signed = await this.client.sign(url, {
        method,
        headers: {
          ...headers,
          // The server rejects a body that was altered in transit.
          'x-amz-content-sha256': createHash('sha256')
            .update(body ?? '')
            .digest('hex'),
        },
      });
      response = await fetch(signed.url, {
        method,
        headers: signed.headers,
        ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
        signal: request.signal,
      });
      received = await response.arrayBuffer();
    } catch (error) {
      throw unavailable(this.name, operation, { cause: error });
    } finally {
      clearTimeout(timer);
      this.requests.delete(request);
    }
    if (!response.ok && response.status !== allowedStatus)
      throw unavailable(this.name, operation, { status: response.status });
    return { status: response.status, body: received };
  }
}

function bucketUrl({
  bucket,
  region,
  endpoint = `https://s3.${region}.amazonaws.com`,
  pathStyle = false,
}: S3Options): string {
  const url = new URL(endpoint);
  const base = url.pathname.replace(/\/$/, '');
  if (pathStyle) url.pathname = `${base}/${bucket}/`;
  else {
    url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = `${base}/`;
  }
  return url.href;
}

interface ListedPage {
  readonly objects: readonly StoredObject[];
  readonly next: string | null;
}

/**
 * Reads the response of ListObjectsV2. Keys contain no characters that XML escapes, except in the operator's prefix.
 * Null if there are more objects and it does not say how to list them, as of storage that knows only the first version
 * of the request: later objects would count as missing.
 */
function readListing(xml: string): ListedPage | null {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, content = '']) => ({
    key: element(content, 'Key') ?? '',
    sizeBytes: Number(element(content, 'Size')),
  }));
  if (element(xml, 'IsTruncated')?.trim().toLowerCase() !== 'true') return { objects, next: null };
  const next = element(xml, 'NextContinuationToken') ?? '';
  return next === '' ? null : { objects, next };
}

function element(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(xml) ?? [];
  return text?.replaceAll(/&(lt|gt|quot|apos|amp|#x[0-9a-f]+|#\d+);/gi, (_, entity: string) => unescapeEntity(entity));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescapeEntity(entity: string): string {
  if (!entity.startsWith('#')) return ENTITIES[entity.toLowerCase()] ?? '';
  return String.fromCodePoint(/^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1)));
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function decode({ body }: { readonly body: ArrayBuffer }): string {
  return new TextDecoder().decode(body);
}
