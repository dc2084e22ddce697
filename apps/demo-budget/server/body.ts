/** A valid request is about 200 bytes. */
const maxBodyBytes = 1_024;

/** The body as text; undefined if it exceeds the limit, in which case the rest is not read. */
export async function bodyText(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** The members of the JSON object in a text; undefined for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? (body as Record<string, unknown>)
    : undefined;
}

export function problem(status: number, code: string): Response {
  return Response.json({ code }, { status, headers: { 'cache-control': 'no-store' } });
}
