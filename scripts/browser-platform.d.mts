export const browserFile: (name: string) => string;
export const PLATFORM: Readonly<Record<string, string>>;
