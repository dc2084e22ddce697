import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JSONWebKeySet, type JWTPayload } from 'jose';

/** A key pair of an identity provider, with the public key as a published JWKS. */
export interface TestKeys {
  readonly keySet: JSONWebKeySet;
  sign(payload: JWTPayload, header?: { readonly kid?: string; readonly alg?: string }): Promise<string>;
}

export async function testKeys(alg: 'RS256' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA', kid: string): Promise<TestKeys> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const jwk = await exportJWK(publicKey as CryptoKey);
  return {
    keySet: { keys: [{ ...jwk, kid, alg, use: 'sig' }] },
    sign: (payload, header = {}) => new SignJWT(payload).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
  };
}
