import { RockpoolError } from '@rockpool/shared';

/**
 * Reads the body of a request up to a limit. Counts the bytes that arrive, because the size in the headers cannot be
 * trusted. Throws `frame-too-large`.
 */
export async function readBody(request: Request, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > limitBytes) throw new RockpoolError('frame-too-large', { sizeBytes, limitBytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A regular request for a role or an invitation has about 100 bytes. */
const MAX_JSON_BYTES = 4_096;

/** Reads a small JSON object from the body. Throws `request-invalid`, or `frame-too-large` above 4 KiB. */
export async function readJsonObject(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const text = new TextDecoder().decode(await readBody(request, MAX_JSON_BYTES));
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new RockpoolError('request-invalid', { problem: 'the request body is not JSON' });
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RockpoolError('request-invalid', { problem: 'the request body is not an object' });
  return body as Readonly<Record<string, unknown>>;
}
