/** What loading a configuration needs of the machine. */
export interface ConfigFiles {
  /** The text of a file. Rejects with the system's error where it cannot be read. */
  readText(path: string): Promise<string>;
  /** The same, at once: for the schemas that a mapping names, which are checked with it. */
  readTextNow(path: string): string;
  /** Absolute path that relative ones belong to. */
  readonly workingDirectory: string;
}
