/*
 * TextEncoder and TextDecoder are in every runtime, but in no ECMAScript lib. Only these two parts of the platform are
 * declared here, so that the compiler rejects I/O, timers and other globals in this package.
 */
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
}
declare class TextDecoder {
  constructor(encoding: 'utf-8', options: { readonly fatal: boolean; readonly ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}
