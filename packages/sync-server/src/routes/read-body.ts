import { RockpoolError } from '@rockpool/shared';

/**
 * The body of a request, counted while it is read: what its headers say of its size is not believed. Throws
 * `frame-too-large`.
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

/** An honest request for a role or an invitation is about 100 bytes. */
const MAX_JSON_BYTES = 4_096;

/** A small JSON object. Throws `request-invalid`. */
export async function readJsonObject(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const text = new TextDecoder().decode(await readBody(request, MAX_JSON_BYTES));
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new RockpoolError('request-invalid', { problem: 'the body is not JSON' });
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RockpoolError('request-invalid', { problem: 'the body is not an object' });
  return body as Readonly<Record<string, unknown>>;
}
