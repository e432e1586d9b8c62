/** What loading a configuration needs of the machine. */
export interface ConfigFiles {
  /** The text of a file. Rejects with the system's error where it cannot be read. */
  readText(path: string): Promise<string>;
  /** Absolute path that relative ones belong to. */
  readonly workingDirectory: string;
}
