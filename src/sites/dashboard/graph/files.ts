import { dashboardHeaders } from './client';
import { remember } from './consistency';
import type { Failure } from './write';

/** A file that the gateway keeps. */
export interface UploadedFile {
  id: string;
  filename: string;
}

function headersOf(): Record<string, string> {
  const acting = sessionStorage.getItem('acting-as');
  return { ...dashboardHeaders, ...(acting && { 'on-behalf-of': acting }) };
}

/**
 * Uploads a file to /v1, since the graph transfers no bytes. Reports how much was sent, from 0 to 1. Returns the file,
 * or why the gateway refused it.
 */
export function upload(
  file: File,
  purpose: string,
  onProgress: (share: number) => void,
): Promise<UploadedFile | Failure> {
  const form = new FormData();
  form.set('purpose', purpose);
  form.set('file', file);
  // fetch reports no progress of what it sends.
  const request = new XMLHttpRequest();
  request.open('POST', '/v1/files');
  request.responseType = 'json';
  const headers = { ...headersOf(), 'idempotency-key': crypto.randomUUID() };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
  return new Promise((resolve) => {
    request.onload = () => {
      remember(request.getResponseHeader('tidegate-consistency'));
      const body = request.response as { id?: string; filename?: string; errors?: { message: string }[] } | null;
      if (request.status === 200 && body?.id) resolve({ id: body.id, filename: body.filename ?? file.name });
      else
        resolve(
          failure(
            body?.errors?.map(({ message }) => message),
            request.getResponseHeader('request-id'),
          ),
        );
    };
    request.onerror = () => resolve(failure());
    request.send(form);
  });
}

/** Downloads the content at a path of /v1. Returns why the gateway refused it. */
export async function download(path: string, filename: string): Promise<Failure | undefined> {
  const content = await contentOf(path, headersOf());
  if ('messages' in content) return content;
  save(content, filename);
  return undefined;
}

/** The content of a file at an address of the gateway, or why the gateway refused it. */
export async function contentOf(address: string, headers: Record<string, string>): Promise<Blob | Failure> {
  try {
    const answer = await fetch(address, { headers });
    if (answer.ok) return await answer.blob();
    const { errors } = (await answer.json()) as { errors?: { message: string }[] };
    return failure(
      errors?.map(({ message }) => message),
      answer.headers.get('request-id'),
    );
  } catch {
    return failure();
  }
}

/** Gives a file to the browser to be saved. */
export function save(content: Blob, filename: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function failure(
  messages = ['The gateway could not be reached. Check the connection and try again.'],
  requestId?: string | null,
): Failure {
  return { messages, fields: {}, requestId: requestId ?? undefined };
}
