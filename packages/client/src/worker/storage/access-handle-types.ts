// TypeScript declares these types only in its "WebWorker" library, which cannot be combined with the page's library in
// one program.
declare global {
  interface FileSystemSyncAccessHandle {
    read(buffer: AllowSharedBufferSource, options?: { at?: number }): number;
    write(buffer: AllowSharedBufferSource, options?: { at?: number }): number;
    truncate(newSize: number): void;
    getSize(): number;
    flush(): void;
    close(): void;
  }
  var FileSystemSyncAccessHandle: { readonly prototype: FileSystemSyncAccessHandle };
  interface FileSystemFileHandle {
    createSyncAccessHandle(): Promise<FileSystemSyncAccessHandle>;
  }
}

export {};
