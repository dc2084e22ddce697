// What the tests of the hooks use of React DOM; the package itself needs React alone, so it does not depend on React DOM's types.
declare module 'react-dom/client' {
  import type { ReactNode } from 'react';
  export interface Root {
    render(children: ReactNode): void;
    unmount(): void;
  }
  export function createRoot(container: Element): Root;
}
