/** Resolves with the bytes of a file in base64, as the control plane takes them. */
export function toBase64(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error('The browser could not read the file.'));
    reader.readAsDataURL(file);
  });
}

/** Lets the browser save bytes or a text as a file, which it never shows as a page. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content.slice(0, content.size, 'application/octet-stream'));
  link.download = name;
  link.click();
  // The browser has taken the bytes once the click is handled.
  setTimeout(() => URL.revokeObjectURL(link.href));
}
