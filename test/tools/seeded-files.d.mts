/** The files of tests that draw by a seed, with the names by which each asks for the seeds that found a fault. */
export declare function seededFiles(): { file: string; asksFor: string[] }[];
