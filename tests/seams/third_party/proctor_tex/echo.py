"""A server with words of its own for a completion."""

import aiohttp

from tasks.models.providers import Failure, build_reply


class Echo:
    """A server takes `{"prompt": …}`; `{"completion": …, "read": n, "written": n}` comes back."""

    def __init__(self, url, timeout_s):
        self._url = url
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(timeout_s))

    async def send(self, request):
        prompt = "\n\n".join(message["content"] for message in request["messages"])
        body = {"prompt": prompt, "most": request.get("max_tokens")}
        try:
            async with self._http.post(self._url, json=body) as response:
                if response.status != 200:
                    is_retryable = response.status == 429 or response.status >= 500
                    return Failure(str(response.status), is_retryable, status_code=response.status)
                data = await response.json()
        except aiohttp.ClientConnectorError:
            return Failure("connection", True)
        except (aiohttp.ClientError, ValueError):
            return Failure("cut_stream", True, is_bill_unknown=True)
        return build_reply(
            content=data.get("completion"),
            finish_reason=data.get("why"),
            input_tokens=data.get("read"),
            output_tokens=data.get("written"),
        )

    async def close(self):
        await self._http.close()


def open_endpoint(url, key, timeout_s):
    return Echo(url, timeout_s)
